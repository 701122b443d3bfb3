module github.com/capmaas/cluster-api-provider-maas/sandbox

go 1.26.0

require github.com/capmaas/cluster-api-provider-maas v0.0.0

replace github.com/capmaas/cluster-api-provider-maas => ../

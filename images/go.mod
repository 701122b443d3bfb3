module github.com/capmaas/cluster-api-provider-maas/images

go 1.26.0

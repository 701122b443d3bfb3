module github.com/capmaas/cluster-api-provider-maas/images

go 1.26.0

require (
	github.com/google/go-containerregistry v0.22.1
	github.com/klauspost/pgzip v1.3.0
	golang.org/x/sys v0.47.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
)

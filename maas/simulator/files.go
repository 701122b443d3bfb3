package simulator

import "net/http"

// fileOperations are the calls of MAAS's store of small files.
func fileOperations() []operation {
	const none = "no file can be stored"
	return []operation{
		{http.MethodGet, "/files/", "get", anyone, getFile, none},
		{http.MethodGet, "/files/", "get_by_key", anyone, getFileByKey, none},
		{http.MethodGet, "/files/", "", users, listFiles, none},
	}
}

func getFile(c *call) (*answer, *refusal) {
	if refused := c.query.mandatory("filename"); refused != nil {
		return nil, refused
	}
	return nil, text(http.StatusNotFound, "File not found")
}

func getFileByKey(c *call) (*answer, *refusal) {
	if refused := c.query.mandatory("key"); refused != nil {
		return nil, refused
	}
	return nil, notFound("FileStorage")
}

func listFiles(*call) (*answer, *refusal) { return ok([]string{}) }

// Package imagefile knows what belongs to a machine image as a file: the manifest beside it, and the way into MAAS.
package imagefile

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const uploadHelp = `Upload an image to MAAS, and wait until MAAS has all of it.

What the image is called in MAAS is in the manifest beside it (image.manifest.json for
image.tar.gz); flags override it. An image that was made elsewhere needs no manifest,
but a --name.

Nothing is sent if MAAS has the same content under the same name and architecture.
Another image of that name and architecture is replaced: MAAS drops it when the upload
begins, so that a new name for every version is better.

An upload that was interrupted leaves an incomplete image, which MAAS cannot deploy.
The same command again clears it away and begins anew.`

const uploadExample = `  capmaas image upload _build/images/debian-12-k8s-v1.36.3-amd64.tar.gz
  capmaas image upload ubuntu.tar.gz --name custom/ubuntu-2404-k8s-v1.36.3 --base-image ubuntu/noble`

func newUploadCommand(p program) *cobra.Command {
	var flags imagefile.Manifest
	command := &cobra.Command{
		Use:     "upload FILE",
		Short:   "Upload an image to MAAS",
		Long:    uploadHelp,
		Example: uploadExample,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			m, err := describe(args[0], flags)
			if err != nil {
				return err
			}
			client, err := p.newMAAS()
			if err != nil {
				return err
			}
			return p.upload(command.Context(), client, args[0], m)
		},
	}
	set := command.Flags()
	set.StringVar(&flags.Name, "name", "", "Name in MAAS, such as custom/debian-12-k8s-v1.36.3.")
	set.StringVar(&flags.Architecture, "architecture", "", "Architecture in MAAS. Without a manifest: amd64/generic.")
	set.StringVar(&flags.Title, "title", "", "Title that MAAS's user interface shows. Without a manifest: the name.")
	set.StringVar(&flags.BaseImage, "base-image", "", "System that the image is made from, such as ubuntu/noble. Without one MAAS takes its commissioning system.")
	set.StringVar(&flags.FileType, "file-type", "", "MAAS's type of the file, such as tgz or ddgz. Without a manifest: by the file's name.")
	return command
}

// describe returns what the manifest beside the image says, with the flags in place of it where they are set.
func describe(file string, flags imagefile.Manifest) (imagefile.Manifest, error) {
	path := imagefile.ManifestPath(file)
	m, err := imagefile.Read(path)
	found := err == nil
	switch {
	case errors.Is(err, fs.ErrNotExist) && flags.Name == "":
		return m, fmt.Errorf("%s has no manifest (%s is not there): give --name, such as --name custom/ubuntu-2404-k8s-v1.36.3", file, filepath.Base(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return m, err
	}
	for _, field := range []struct {
		to           *string
		flag, orElse string
	}{
		{&m.Name, flags.Name, ""},
		{&m.Architecture, flags.Architecture, "amd64/generic"},
		{&m.Title, flags.Title, strings.TrimPrefix(flags.Name, "custom/")},
		{&m.BaseImage, flags.BaseImage, ""},
		{&m.FileType, flags.FileType, ""},
	} {
		switch {
		case field.flag != "":
			*field.to = field.flag
		case !found:
			*field.to = field.orElse
		}
	}
	if !strings.Contains(m.Architecture, "/") {
		m.Architecture += "/generic"
	}
	if m.FileType == "" {
		if m.FileType, err = imagefile.GuessFileType(file); err != nil {
			return m, err
		}
	}
	if m.FileType == "" {
		return m, fmt.Errorf("the name %s does not tell the file type: give it with --file-type, one of %s", filepath.Base(file), imagefile.FileTypes())
	}
	return m, nil
}

func (p program) upload(ctx context.Context, client *maas.Client, file string, m imagefile.Manifest) error {
	bar := newBar(p.log, p.width)
	uploader := imagefile.Uploader{
		Client:  client,
		Checked: func(done, total int64) { bar.show("Checking "+filepath.Base(file), done, total) },
		Sent:    func(sent, total int64) { bar.show("Uploading "+m.Name, sent, total) },
		Waiting: func() { bar.say("MAAS has all of it; waiting until it says that the image is complete") },
		Anew:    func(reason error) { bar.say("The upload begins anew: " + reason.Error()) },
	}
	result, err := uploader.Upload(ctx, file, m)
	bar.end()
	if err != nil {
		return explain(ctx, client, err)
	}
	where := "MAAS at " + client.Host()
	what := fmt.Sprintf("boot resource %d, sha256 %s", result.Resource.ID, result.SHA256)
	switch {
	case result.AlreadyThere:
		fmt.Fprintf(p.out, "%s has %s already, and nothing was sent (%s).\n", where, m.Name, what)
	case result.Replaced:
		fmt.Fprintf(p.out, "%s has %s, complete, in place of what it had under this name (%s).\n", where, m.Name, what)
	default:
		fmt.Fprintf(p.out, "%s has %s, complete (%s).\n", where, m.Name, what)
	}
	return nil
}

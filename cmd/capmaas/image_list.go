package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func newListCommand(p program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the images that were uploaded to MAAS",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := p.newMAAS()
			if err != nil {
				return err
			}
			if err := p.list(command.Context(), client); err != nil {
				return explain(command.Context(), client, err)
			}
			return nil
		},
	}
}

func (p program) list(ctx context.Context, client *maas.Client) error {
	all, err := client.UploadedBootResources(ctx)
	if err != nil {
		return fmt.Errorf("list the images in MAAS: %w", err)
	}
	if len(all) == 0 {
		fmt.Fprintln(p.log, "No image was uploaded to "+client.Host()+" yet: capmaas image upload FILE uploads one.")
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tARCHITECTURE\tTITLE\tSIZE\tCOMPLETE\tSHA256")
	for _, b := range all {
		// Lists do not say what is in an image.
		whole, err := client.BootResource(ctx, b.ID)
		if errors.Is(err, maas.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at the image %s (boot resource %d): %w", b.Name, b.ID, err)
		}
		fmt.Fprintln(table, row(*whole))
	}
	return table.Flush()
}

func row(b maas.BootResource) string {
	name := b.Name
	if b.IsCustom() {
		// As machines name it.
		name = "custom/" + name
	}
	set, _ := b.Newest()
	content, ok := b.Content()
	complete := "no"
	if set.Complete {
		complete = "yes"
	}
	if !ok {
		return fmt.Sprintf("%s\t%s\t%s\t-\t%s\t-", name, b.Architecture, plain(b.Title), complete)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", name, b.Architecture, plain(b.Title), megabytes(content.Size), complete, content.SHA256)
}

// plain is a text without what moves the cursor or the columns: in MAAS, titles are free.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

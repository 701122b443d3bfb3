package v1beta1

import "testing"

func TestABareImageNameIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{"u-2404": "custom/u-2404", "custom/u-2404": "custom/u-2404", "ubuntu/jammy": "ubuntu/jammy"} {
		if got := FullImageName(image); got != want {
			t.Errorf("%s: got %s, want %s", image, got, want)
		}
	}
}

package simulator

import "testing"

func TestDefinitionsOfTagsAreXPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`//node`: "", `/`: "", `.`: "", `..//*/@id`: "", `//node[@id="display"]/'clock units="Hz"' > 1000000000`: "Invalid expression",
		`//node[@class="network" and contains(capabilities/capability/@id, "10gbt-fd")]`: "", `//node[@id="memory"]/size >= 4294967296`: "",
		`count(//node[@id="cpu"]) > 1 or not(//x)`: "", `(//a | //b)[last()]/c`: "", `-1 + 2 * 3 div 4`: "", `ancestor-or-self::node()`: "",
		`//text()[. = 'x']`: "", `lldp:chassis/lldp:id = $x`: "", `processing-instruction('a')`: "", `a[1][2]`: "", `.5`: "",
		`//[`: "Invalid expression", `//`: "Invalid expression", `a b`: "Invalid expression", `a[`: "Invalid predicate", `a[]`: "Invalid predicate",
		`a[@b="x]`: "Unfinished literal", `f(a,`: "Invalid expression", `f(a b)`: "Invalid expression", `a =`: "Invalid expression", `(a`: "Invalid expression",
		`a::`: "Invalid expression", `a ? b`: "Invalid expression", `$`: "Invalid expression", `text('a'`: "Invalid expression", `a/`: "Invalid expression",
	} {
		if got := xpathProblem(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	w := newWorld(t, nil)
	w.ask("admin", "PUT", "/tags/ssd/", "", [2]string{"definition", "a["}).wants(t, 400, `{"definition": ["Invalid xpath expression: Invalid predicate"]}`)
	if got := w.region.state.tags.rows["ssd"].definition; got != "" {
		t.Errorf("the definition is %q all the same", got)
	}
}

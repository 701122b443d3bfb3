package simulator

import (
	"regexp"
	"slices"
)

// xpathProblem says why a text is no XPath 1.0 expression, as MAAS's library
// does; "" for one that is. What it would find is not looked at.
func xpathProblem(text string) string {
	p := &xpathParser{}
	if problem := p.split(text); problem != "" {
		return problem
	}
	if !p.expression() || p.at < len(p.tokens) {
		if p.openPredicate {
			return "Invalid predicate"
		}
		return "Invalid expression"
	}
	return ""
}

// xpathParser reads tokens from left to right.
type xpathParser struct {
	tokens []string
	at     int
	// openPredicate says that what went wrong did so in a predicate that had
	// begun well.
	openPredicate bool
}

func xpathToken() *regexp.Regexp {
	return regexp.MustCompile(`^(\s+|"[^"]*"|'[^']*'|[0-9]+(\.[0-9]*)?|\.[0-9]+|\.\.|\.|//|/|::|<=|>=|!=|[\[\]()@,|+=<>*$-]|[\pL_][\pL\pN_.-]*(:(\*|[\pL_][\pL\pN_.-]*))?)`)
}

func (p *xpathParser) split(text string) string {
	for token := xpathToken(); text != ""; {
		found := token.FindString(text)
		switch {
		case found == "" && (text[0] == '"' || text[0] == '\''):
			return "Unfinished literal"
		case found == "":
			return "Invalid expression"
		}
		if text = text[len(found):]; !regexp.MustCompile(`^\s`).MatchString(found) {
			p.tokens = append(p.tokens, found)
		}
	}
	return ""
}

func (p *xpathParser) peek() string { return p.ahead(0) }

func (p *xpathParser) ahead(n int) string {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n]
	}
	return ""
}

// take goes past a token if it is one of those given.
func (p *xpathParser) take(wanted ...string) bool {
	if p.at < len(p.tokens) && slices.Contains(wanted, p.peek()) {
		p.at++
		return true
	}
	return false
}

// expression is operands joined by operators; how tightly these bind does not
// matter for what is well formed.
func (p *xpathParser) expression() bool {
	for {
		for p.take("-") { // a number may have any number of signs
		}
		if !p.operand() {
			return false
		}
		if !p.take("or", "and", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod", "|") {
			return true
		}
	}
}

// operand is a value or a path, perhaps one that begins with a value.
func (p *xpathParser) operand() bool {
	first := p.peek()
	switch {
	case first == "":
		return false
	case first == "(":
		p.at++
		if !p.expression() || !p.take(")") {
			return false
		}
	case first == "$":
		p.at++
		if !isXPathName(p.peek()) {
			return false
		}
		p.at++
	case first[0] == '"' || first[0] == '\'' || first[0] >= '0' && first[0] <= '9' || len(first) > 1 && first[0] == '.' && first != "..":
		p.at++
	case isXPathName(first) && p.ahead(1) == "(" && !isXPathNodeType(first):
		p.at += 2
		if !p.arguments() {
			return false
		}
	default:
		return p.path()
	}
	if !p.predicates() {
		return false
	}
	if p.take("/", "//") {
		return p.steps()
	}
	return true
}

func (p *xpathParser) arguments() bool {
	if p.take(")") {
		return true
	}
	for {
		if !p.expression() {
			return false
		}
		if p.take(")") {
			return true
		}
		if !p.take(",") {
			return false
		}
	}
}

func (p *xpathParser) path() bool {
	if p.take("/") && !p.beginsStep() {
		return true // the root alone
	}
	p.take("//")
	return p.steps()
}

func (p *xpathParser) beginsStep() bool {
	token := p.peek()
	return slices.Contains([]string{"*", "@", ".", ".."}, token) || isXPathName(token)
}

func (p *xpathParser) steps() bool {
	for {
		if !p.step() {
			return false
		}
		if !p.take("/", "//") {
			return true
		}
	}
}

func (p *xpathParser) step() bool {
	if p.take(".", "..") {
		return true
	}
	if isXPathName(p.peek()) && p.ahead(1) == "::" {
		p.at += 2
	} else {
		p.take("@")
	}
	name := p.peek()
	switch {
	case isXPathNodeType(name) && p.ahead(1) == "(":
		p.at += 2
		if argument := p.peek(); argument != "" && (argument[0] == '"' || argument[0] == '\'') {
			p.at++
		}
		if !p.take(")") {
			return false
		}
	case name == "*" || isXPathName(name):
		p.at++
	default:
		return false
	}
	return p.predicates()
}

func (p *xpathParser) predicates() bool {
	for p.take("[") {
		if !p.expression() || !p.take("]") {
			p.openPredicate = true
			return false
		}
	}
	return true
}

func isXPathName(token string) bool {
	return regexp.MustCompile(`^[\pL_]`).MatchString(token)
}

func isXPathNodeType(token string) bool {
	return slices.Contains([]string{"comment", "text", "processing-instruction", "node"}, token)
}

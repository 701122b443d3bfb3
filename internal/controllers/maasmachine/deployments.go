package maasmachine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// What a spec that says nothing means.
const (
	defaultDeployTimeout  = 45 * time.Minute
	defaultDeployAttempts = 3
)

// A deployment that comes to nothing again and again is given up after so many times, if that has lasted so long: a BMC is away for a
// minute now and then.
const (
	putBackOften = 3
	putBackLong  = 10 * time.Minute
)

// deployment is one machine on which the image was, or is, to be installed. The list of them stands in an annotation, for it must survive
// a move, and cannot be seen in MAAS.
type deployment struct {
	// Machine is its system ID, and Name its hostname.
	Machine string `json:"machine"`
	Name    string `json:"name,omitempty"`
	// Began is when MAAS was first asked for it.
	Began time.Time `json:"began"`
	// Taken says that MAAS took it up, and PutBack how often it came to nothing since, and the machine was Allocated again.
	Taken   bool `json:"taken,omitempty"`
	PutBack int  `json:"putBack,omitempty"`
	// Failed is why it was given up, and reads after "the deployment of machine m1"; "" while it was not. Ended is when.
	Failed string    `json:"failed,omitempty"`
	Ended  time.Time `json:"ended,omitzero"`
	// Tagged says that the machine was marked in MAAS as one to avoid.
	Tagged bool `json:"tagged,omitempty"`
	// GivenBack says that the machine is not ours any more. It may be claimed again later, and is another deployment then.
	GivenBack bool `json:"givenBack,omitempty"`
}

// deployments reads the list, the oldest first. One that cannot be read, for somebody edited it, is none.
func deploymentsOf(m *infrav1.MaasMachine) []deployment {
	var all []deployment
	if err := json.Unmarshal([]byte(m.Annotations[infrav1.DeployAttemptsAnnotation]), &all); err != nil {
		return nil
	}
	return all
}

// maxDeployments bounds the list. The oldest go first.
const maxDeployments = 10

// changeDeployment changes what stands of the machine's deployment, which is begun if there is none.
func changeDeployment(m *infrav1.MaasMachine, systemID, name string, now time.Time, change func(*deployment)) {
	all := deploymentsOf(m)
	if len(all) == 0 || !all[len(all)-1].isOf(systemID) {
		all = append(all, deployment{Machine: systemID, Name: brief(name, maxName), Began: inSeconds(now)})
	}
	change(&all[len(all)-1])
	text, err := json.Marshal(all[max(0, len(all)-maxDeployments):])
	if err != nil {
		return // it cannot be: these are texts, times and numbers
	}
	setAnnotation(m, infrav1.DeployAttemptsAnnotation, string(text))
}

// inSeconds is a time as it is written down.
func inSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// isOf says that it is of this machine as it is ours now.
func (d deployment) isOf(systemID string) bool { return d.Machine == systemID && !d.GivenBack }

// deployment is that of the machine in the spec; one without a machine if none was begun.
func (o observation) deployment() deployment {
	all := deploymentsOf(o.object)
	if len(all) > 0 && all[len(all)-1].isOf(o.systemID()) {
		return all[len(all)-1]
	}
	return deployment{}
}

// failedBefore lists the deployments that came to nothing on other machines, or on this one when it was ours before.
func (o observation) failedBefore() []deployment {
	return slices.DeleteFunc(deploymentsOf(o.object), func(d deployment) bool { return d.Failed == "" || !d.GivenBack })
}

func (o observation) deployTimeout() time.Duration {
	if t := o.object.Spec.DeployTimeout; t != nil && t.Duration > 0 {
		return t.Duration
	}
	return defaultDeployTimeout
}

func (o observation) deployAttempts() int {
	if n := o.object.Spec.DeployAttempts; n > 0 {
		return int(n)
	}
	return defaultDeployAttempts
}

// isLast says that no other machine is tried after this one. One that is to be kept stays ours, and there is never a second.
func (o observation) isLast() bool {
	return o.object.Spec.KeepFailed || len(deploymentsOf(o.object)) >= o.deployAttempts()
}

// triesAnother says that the deployment was given up, and that another machine is to follow.
func (o observation) triesAnother() bool {
	return !o.provisioned() && o.deployment().Failed != "" && !o.isLast()
}

// deployFailed says why the deployment of the machine is to be given up; "" if it is not.
func (o observation) deployFailed() string {
	d, s := o.deployment(), stateOf(o.machine)
	switch {
	case s.status == maas.StatusFailedDeployment:
		return "failed" + saying(o.failure)
	case s.deploy == deployIt && d.Taken && o.abortedBy != "":
		return fmt.Sprintf("was aborted by user %q", o.abortedBy)
	case s.status == maas.StatusBroken:
		return "ended when it was marked broken" + saying(o.machine.ErrorDescription)
	case s.isBeingReleased():
		return "ended when somebody released the machine"
	case s.deploy == deployIt && d.PutBack >= putBackOften && o.now.Sub(d.Began) >= putBackLong:
		return "came to nothing again and again: MAAS put the machine back to Allocated each time"
	case d.begun() && (s.deploy == deployIt || s.deploy == installing) && o.now.Sub(d.Began) >= o.deployTimeout():
		return "did not finish within " + inWords(o.deployTimeout())
	}
	return ""
}

// takenAway says who ended the deployment of a machine that is not ours any more; "" if nobody did for sure: one that is our user's, and that
// says of nobody whose it is, might have lost our claim by somebody's hand.
func (o observation) takenAway() string {
	switch m := o.machine; {
	case o.standing == holdsGone:
		return "ended when the machine was deleted from MAAS"
	case m == nil:
		return "ended when somebody else got the machine"
	case m.Owner == "" && m.Status == maas.StatusBroken:
		return "ended when it was marked broken" + saying(m.ErrorDescription)
	case m.Owner == "":
		return "ended when somebody released the machine"
	case m.Owner != o.user:
		return fmt.Sprintf("ended when user %q got the machine", m.Owner)
	case o.belongsToOther(m) != "":
		return fmt.Sprintf("ended when MaasMachine %s got the machine", asPath(o.belongsToOther(m)))
	}
	return ""
}

// begun says that MAAS did something for it. One that MAAS refused alone is not late.
func (d deployment) begun() bool { return d.Taken || d.PutBack > 0 }

// inWords is 45m and not 45m0s.
func inWords(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// whichOf says which of several machines this one is; "" if it is the first.
func (o observation) whichOf() string {
	if n := len(o.failedBefore()); n > 0 {
		return fmt.Sprintf(", machine %d of at most %d that are tried", n+1, o.deployAttempts())
	}
	return ""
}

// afterFailures says what happened on the machine before.
func (o observation) afterFailures() string {
	if before := o.failedBefore(); len(before) > 0 {
		return "; before, " + before[len(before)-1].ended()
	}
	return ""
}

// deployGivenUp says what was tried, and what a person can do.
func (o observation) deployGivenUp() string {
	d, before := o.deployment(), o.failedBefore()
	text := fmt.Sprintf("the deployment of %s %s", o.nameOf(o.machine), d.Failed)
	alike := len(before) > 0
	var others []string
	for _, b := range before {
		others = append(others, b.Name)
		alike = alike && b.Failed == d.Failed
	}
	if len(others) > 0 {
		text += ", and before it on " + strings.Join(others, ", ")
	}
	look := fmt.Sprintf("look at %s", o.page)
	switch {
	case o.object.Spec.KeepFailed:
		return fmt.Sprintf("%s: %s; %s, this one is kept (spec.keepFailed)", text, look, o.replace())
	case alike:
		text = strings.Replace(text, " in MAAS "+o.maasHost, "", 1) // the page says where
		return fmt.Sprintf("%s alike: %s; suspect image %s first, then the machines; then %s", text, look, o.object.Spec.Image, o.replace())
	}
	return fmt.Sprintf("%s: %s; if it is at fault, mark it broken in MAAS; then %s", text, look, o.replace())
}

// ended says what became of it.
func (d deployment) ended() string {
	if d.Name == "" {
		return fmt.Sprintf("the deployment of machine %s %s", d.Machine, d.Failed)
	}
	return fmt.Sprintf("the deployment of machine %s (%s) %s", d.Name, d.Machine, d.Failed)
}

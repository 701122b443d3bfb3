package simulator

import "strings"

// troubleOf is what was wrong with rack, power or workflow when an exchange was
// recorded. The text of a failure is what the recording says it was, else one
// that nobody gets to see.
func troubleOf(ex *exchange) (Moment, Trouble) {
	_, what, _ := strings.Cut(ex.Name, ".")
	fail := Trouble{Fail: "BMC unreachable"}
	if ex.Response.Body != nil && ex.Response.Status >= 400 {
		fail.Fail = *ex.Response.Body
	}
	switch what {
	case "power-action-fail", "power-already", "power-not-implemented", "power-workflow-fails":
		return MomentPowerOn, fail
	case "deploy-workflow-start-fails":
		return MomentWorkflow, fail
	case "no-rack":
		return MomentRack, fail
	case "ip-check-fails":
		return MomentAddressCheck, fail
	case "rack-lacks-image", "custom-without-ephemeral":
		return MomentImage, fail
	case "power-fail", "power-busy":
		return MomentPowerOff, fail
	case "fail":
		return MomentPowerQuery, fail
	}
	return "", Trouble{}
}

// breakHardware makes happen what was wrong in a recording, and only that.
func (w *world) breakHardware(ex *exchange) {
	moment, trouble := troubleOf(ex)
	w.region.SetHardware(func(e HardwareEvent) Trouble {
		if e.Moment == moment {
			return trouble
		}
		return Trouble{}
	})
}

// rackEvents are exchanges after a failure of which a rack tells MAAS in an
// event. The stand-in for a rack that was recorded told nothing.
func rackEvents() []string {
	return []string{
		"deploy.power-action-fail.after", "deploy.power-not-implemented.after", "deploy.power-workflow-fails.after",
		"release.power-fail.after", "release.power-fail.retry", "power_off.power-fail.after",
	}
}

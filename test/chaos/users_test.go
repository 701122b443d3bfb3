package chaos

import (
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// uses lets users of the clusters do something now and then, until it is calm.
func (w *world) uses() {
	if w.calm {
		return
	}
	c := w.clusters[w.dice.IntN(len(w.clusters))]
	if o := c.object(); o != nil && o.DeletionTimestamp.IsZero() && !c.moving {
		w.use(c)
	}
	w.after(w.dice.between(2*time.Minute, 15*time.Minute), w.uses)
}

func (w *world) use(c *cluster) {
	switch n := w.dice.IntN(100); {
	case n < 25:
		c.wanted[worker] = w.dice.number(0, c.plan.workers+1)
		w.tell("user", "wants %d workers of %s", c.wanted[worker], c.name)
	case n < 40:
		c.wanted[controlPlane] = one(w.dice, 1, c.plan.controlPlanes)
		w.tell("user", "wants %d control planes of %s", c.wanted[controlPlane], c.name)
	case n < 60:
		r := one(w.dice, roles...)
		c.generation[r]++
		w.tell("user", "rolls out %s of %s", r, c.name)
	case n < 75:
		if machines := c.machines(""); len(machines) > 0 {
			c.deleteMachine(machines[w.dice.IntN(len(machines))], "a user wants that")
		}
	case n < 80:
		w.deletes(c)
	case n < 85:
		w.pauses(c)
	default:
		if len(w.managements) > 1 {
			w.moves(c)
		}
	}
}

// deletes deletes a cluster.
func (w *world) deletes(c *cluster) {
	if o := c.object(); o != nil {
		w.tell("user", "deletes cluster %s", c.name)
		c.of.store.remove(o)
	}
}

// pauses pauses a cluster for a while.
func (w *world) pauses(c *cluster) {
	c.pause(true)
	w.after(w.dice.between(10*time.Second, 5*time.Minute), func() {
		if !c.moving {
			c.pause(false)
		}
	})
}

func (c *cluster) pause(is bool) {
	if o := c.object(); o != nil {
		c.w.tell("user", "pauses %s: %t", c.name, is)
		edit(c.of.store, o, func(o *clusterv1.Cluster) {
			o.Spec.Paused = nil
			if is {
				o.Spec.Paused = &is
			}
		})
	}
}

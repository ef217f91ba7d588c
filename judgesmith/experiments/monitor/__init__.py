"""Whether scores, inputs and a judge are still what they were."""

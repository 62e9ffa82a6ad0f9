"""What the documentation shows, recomputed: quoted numbers and figures. A part of a checkout, not of the product."""

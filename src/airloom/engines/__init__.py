"""One tick and the two engines that integrate it, with the fleet laid out for them."""

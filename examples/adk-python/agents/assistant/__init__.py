"""An assistant that pays, knows the weather, finds its user and plays music."""

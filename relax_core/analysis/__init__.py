"""Facts about whole programs that passes and reports share: regions, devices, effects, scopes, fusion groups."""

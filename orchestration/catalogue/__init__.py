"""Records of releases for catalogues of data: DCAT-AP, DDI-Codebook, Croissant."""

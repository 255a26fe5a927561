#ifndef CPEERS_H
#define CPEERS_H

/// What MSAL for Python is run with.
const char *_Nonnull peer_msal_python(void);

#endif

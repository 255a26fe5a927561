#include "CPeers.h"

static const char script[] = {
#embed "msal_python.py" suffix(, 0)
};

const char *peer_msal_python(void) { return script; }

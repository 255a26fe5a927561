"""Goes on with the sessions of a cache in MSAL for Python: finds the account, hits its access token, and refreshes it.

Usage: continue_session.py CACHE oidc|b2c AUTHORITY CA_FILE CLIENT_ID SCOPE
"""
import json
import sys

import msal

path, kind, authority, ca_file, client, scope = sys.argv[1:7]
cache = msal.SerializableTokenCache()
cache.deserialize(open(path, encoding="utf-8").read())
options = {"oidc_authority": authority} if kind == "oidc" else {"authority": authority}
app = msal.PublicClientApplication(client, token_cache=cache, verify=ca_file, instance_discovery=False, **options)
account = app.get_accounts()[0]
scopes = scope.split()
cached = app.acquire_token_silent(scopes, account=account) or {}
renewed = app.acquire_token_silent(scopes, account=account, force_refresh=True) or {}
json.dump({
    "username": account["username"],
    "cached": cached.get("access_token"), "cachedSource": cached.get("token_source"),
    "renewed": renewed.get("access_token"), "renewedSource": renewed.get("token_source"),
}, sys.stdout)

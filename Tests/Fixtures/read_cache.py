"""Reads a cache with MSAL for Python, offline, and prints what it finds: accounts, and access tokens by silent request.

Usage: read_cache.py CACHE [AUTHORITY]
"""
import json
import sys

import msal


class Response:
    status_code = 200
    headers = {}

    def __init__(self, body):
        self.text = json.dumps(body)

    def raise_for_status(self):
        pass


class Network:
    """Answers discovery with what the URL itself says, and counts everything else, which a cache hit never needs."""

    requests = 0

    def get(self, url, **kwargs):
        base = url.split("/v2.0/.well-known/")[0]
        return Response({
            "issuer": base,
            "authorization_endpoint": base + "/oauth2/v2.0/authorize",
            "token_endpoint": base + "/oauth2/v2.0/token",
        })

    def post(self, url, **kwargs):
        Network.requests += 1
        return Response({"error": "invalid_grant"})

    def close(self):
        pass


def main(path, authority="https://{environment}/{realm}/b2c_1_signin"):
    document = json.load(open(path, encoding="utf-8"))
    accounts, tokens = set(), {}
    for token in document.get("AccessToken", {}).values():
        cache = msal.SerializableTokenCache()
        cache.deserialize(json.dumps(document))
        app = msal.PublicClientApplication(
            token["client_id"],
            authority=authority.format(**token),
            instance_discovery=False,
            token_cache=cache,
            http_client=Network(),
        )
        for account in app.get_accounts():
            accounts.add((account["home_account_id"], account["username"]))
            if account["home_account_id"] != token["home_account_id"]:
                continue
            found = app.acquire_token_silent(token["target"].split(" "), account=account)
            tokens[token["home_account_id"] + " " + token["target"]] = (found or {}).get("access_token")
    json.dump({"accounts": sorted(accounts), "tokens": tokens, "requests": Network.requests}, sys.stdout)


main(*sys.argv[1:])

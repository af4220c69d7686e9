/** Owns the address of an endpoint: what is asked, what may be shown, and the secrets in it. */

export interface Address {
  /** For requests: without user, password and query. */
  readonly url: string
  readonly query: Readonly<Record<string, string>>
  /** Header for the user and password in the address. */
  readonly authorization: string | undefined
  /** What must not stand in a message. */
  readonly secrets: readonly string[]
}

export function addressOf(baseURL: string): Address {
  const parsed = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  // Whatever is wrong with it is said when it is asked for.
  if (parsed === undefined) return { url: baseURL, query: {}, authorization: undefined, secrets: [] }
  const user = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
  const query = Object.fromEntries(parsed.searchParams)
  const authorization = user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`
  return {
    url: `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, ''),
    query,
    authorization,
    secrets: [decodeURIComponent(parsed.password), ...(authorization ? [authorization] : []), ...Object.values(query)],
  }
}

/** Shorter values are no secrets, and hiding them would make messages unreadable. */
const SECRET_MIN = 8

/** Takes secrets out of a text that others wrote. */
export function hider(secrets: readonly (string | undefined)[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret !== undefined && secret.length >= SECRET_MIN) as string[]
  return (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
}

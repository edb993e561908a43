type RedisAddress =
  | { kind: 'single'; url: string }
  | ({ kind: 'sentinel'; sentinels: RedisNode[]; primary: string; database: number } & Credentials)
  | ({ kind: 'cluster'; nodes: RedisNode[] } & Credentials)

interface RedisNode {
  host: string
  port: number
}

interface Credentials {
  username: string | undefined
  password: string | undefined
  tls: boolean
}

/** Parses `redis://…`, `redis+sentinel://[user:password@]host[:port],…/primary[/database]` and `redis+cluster://…`; `rediss` for TLS. */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  if (/^rediss?:/.test(text)) return isSingle(text) ? { kind: 'single', url: text } : undefined
  const [, scheme, mode, account, hosts, path = ''] =
    /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/]*)@)?([^/?#@]+)(?:\/([^?#]*))?$/.exec(text) ?? []
  if (scheme === undefined || hosts === undefined) return undefined
  const nodes = hosts.split(',').map((host) => parseNode(host, mode === 'sentinel' ? 26_379 : 6_379))
  if (!nodes.every((node) => node !== undefined)) return undefined
  const [username, password] = parseAccount(account)
  const credentials = { username, password, tls: scheme === 'rediss' }
  if (mode === 'cluster') return path === '' ? { kind: 'cluster', nodes, ...credentials } : undefined
  const [, primary, database = '0'] = /^([A-Za-z0-9._-]+)(?:\/(\d{1,3}))?$/.exec(path) ?? []
  return primary === undefined ? undefined : { kind: 'sentinel', sentinels: nodes, primary, database: Number(database), ...credentials }
}

function isSingle(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.hostname !== '' && url.hash === '' && /^(\/\d*)?$/.test(url.pathname)
}

function parseNode(text: string, usualPort: number): RedisNode | undefined {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === undefined || Number(port ?? 0) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? usualPort : Number(port) }
}

function parseAccount(account: string | undefined): [username: string | undefined, password: string | undefined] {
  if (account === undefined) return [undefined, undefined]
  const colon = account.indexOf(':')
  const [user, password] = colon < 0 ? [account, ''] : [account.slice(0, colon), account.slice(colon + 1)]
  return [decodeURIComponent(user) || undefined, decodeURIComponent(password) || undefined]
}

import { UserError } from '../domain/errors/errors.ts'

const slashOrControlCharacter = /[/\\\p{Cc}]/u

/**
 * Builds a path such as `/elastic_ips/eip_1`. Ids are opaque, and people can type them. The id `..` would reach another operation with
 * Lockkeeper's key. So would an encoded slash, if a proxy decodes it before it routes the request. The account API has no such ids, so this
 * throws UserError instead of encoding them.
 */
export function pathTo(collection: `/${string}`, id: string): string {
  if (id === '' || id === '.' || id === '..' || slashOrControlCharacter.test(id) || !id.isWellFormed()) {
    throw new UserError("Not a valid id. An id isn't empty and has no slashes, backslashes or control characters.")
  }
  return `${collection}/${encodeURIComponent(id)}`
}

/** Builds a path such as `/elastic_ips?filter%5Bstatus%5D=moving`. Leaves out members that are undefined. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.append(name, String(value))
  }
  return params.size === 0 ? path : `${path}?${params}`
}

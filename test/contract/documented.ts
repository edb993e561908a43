import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/**
 * Answers as the documents of the vendor show them, with where each stands: repository, path and commit, and its kind. Values that a
 * document leaves open are invented.
 */
export interface Documented {
  name: string
  source: string
  /** One resource: `data`, or one item of it. */
  wire: { id: string | null; attributes: Record<string, unknown> }
  /** What the client returns for it, with every member. `not ready`: left out of lists. */
  reads: object | 'not ready'
}

/** Says how an example differs from the first one of its file. */
type Differing = Pick<Documented, 'name' | 'source' | 'reads'> & Partial<Documented['wire']>

function read(file: string): Documented[] {
  const text = readFileSync(new URL(`./documented/${file}.yml`, import.meta.url), 'utf8')
  const [first, ...others]: [Documented, ...(Documented | Differing)[]] = parse(text)
  const whole = others.map((one) => {
    if ('wire' in one) return one
    const { name, source, id = first.wire.id, attributes = {}, reads } = one
    const wire = { ...first.wire, id, attributes: changed(first.wire.attributes, attributes) }
    return { name, source, wire, reads: typeof reads === 'string' ? reads : changed(first.reads as object, { id, ...reads }) }
  })
  return [first, ...whole]
}

function changed(members: object, changes: object) {
  return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, value]) => value !== 'left out'))
}

export const elasticIps = read('elastic-ips')
export const servers = read('servers')
export const virtualMachines = read('virtual-machines')
export const apiKeys = read('api-keys')
export const baselines = read('baselines')
export const plans = read('plans')

export const token = 'd00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)

/** The answer to a creation or a rotation: the key with its token. */
export const issued = (key: Documented['wire']) => ({ ...key, attributes: { ...key.attributes, token } })

const first = ([one]: Documented[]) => (one as Documented).wire as { id: string; attributes: Record<string, unknown> }

/** One documented answer of each kind. */
export const sample = {
  elasticIp: first(elasticIps),
  server: first(servers),
  virtualMachine: first(virtualMachines),
  apiKey: first(apiKeys),
  issuedApiKey: issued(first(apiKeys)),
  baseline: first(baselines),
  plan: first(plans),
}

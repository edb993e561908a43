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
  wire: unknown
  /** What the client returns for it, with every member. `not ready`: left out of lists. `misfit`: left out of lists and reported. */
  reads: object | 'not ready' | 'misfit'
}

interface DocumentedError {
  name: string
  status: number
  /** Undefined if the answer has none. */
  body?: unknown
  reads: { codes: string[]; detail?: string; retryAfterMs?: number }
}

const read = (file: string) => parse(readFileSync(new URL(`./documented/${file}.yml`, import.meta.url), 'utf8'))

export const elasticIps: Documented[] = read('elastic-ips')
export const servers: Documented[] = read('servers')
export const virtualMachines: Documented[] = read('virtual-machines')
export const apiKeys: Documented[] = read('api-keys')
/** The answers to a creation and a rotation. An answer without a token is a `misfit`, because nobody could use the key. */
export const issuedApiKeys: Documented[] = read('issued-api-keys')
export const baselines: Documented[] = read('baselines')
export const plans: Documented[] = read('plans')
export const errors: DocumentedError[] = read('errors')

export const token = 'd00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)

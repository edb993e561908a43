import { expect, test } from 'vitest'
import { inLane, type Lane } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { key, rejection, startClient } from './recording-server.ts'

const readKey = '77aa0c9a7b3d24680ace13579bdf02468a77'
const keys: Record<string, string> = { [key]: 'key', [readKey]: 'read-key' }

async function start(options: { key?: Secret | undefined } = {}, status = 200) {
  const { api, requests } = await startClient(() => ({ status, json: { data: [] } }), { readKey: new Secret(readKey), ...options })
  /** Returns which key the last call used. */
  const used = async (lane: Lane, call: () => Promise<unknown>) => {
    await inLane(lane, call).catch(() => {})
    return keys[String(requests.at(-1)?.headers.authorization)]
  }
  return { api, requests, used }
}

test('the read-only key reads for people, tracking and the background, and never before a write, for lists of keys or to write', async () => {
  const { api, used } = await start()
  const read = () => api.servers.list()

  for (const lane of ['person', 'track', 'background'] as const) expect(await used(lane, read)).toBe('read-key')
  for (const lane of ['execute', 'bundle', 'retract'] as const) expect(await used(lane, read)).toBe('key')
  expect(await used('person', () => api.apiKeys.list())).toBe('key')
  expect(await used('person', () => api.apiKeys.delete('tok_57jvG72qDZNTv'))).toBe('key')
})

test('without the key that writes, the read-only key reads everything, and nothing is written', async () => {
  const { api, requests, used } = await start({ key: undefined })

  expect(await used('execute', () => api.servers.list())).toBe('read-key')
  expect(await used('person', () => api.apiKeys.list())).toBe('read-key')
  const before = requests.length
  expect(await rejection(inLane('execute', () => api.apiKeys.delete('tok_57jvG72qDZNTv')))).toMatchObject({
    message: 'apiKeys.delete needs INFRA_API_KEY, which this process does not have',
  })
  expect(requests).toHaveLength(before)
})

test('an error names the variable of the key that was used', async () => {
  const { api } = await start({}, 401)

  expect(await rejection(inLane('person', () => api.servers.list()))).toMatchObject({ status: 401, key: 'INFRA_READ_KEY' })
  expect(await rejection(inLane('execute', () => api.servers.list()))).toMatchObject({ status: 401, key: 'INFRA_API_KEY' })
})

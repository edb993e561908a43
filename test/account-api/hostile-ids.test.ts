import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { UserError } from '../../src/domain/errors.ts'
import { anyText } from '../any-text.ts'
import { rejection, startClient } from './recording-server.ts'

const calls: [string, string, (api: AccountApi, id: string) => Promise<unknown>][] = [
  ['elasticIps.get', '/elastic_ips/', (api, id) => api.elasticIps.get(id)],
  ['elasticIps.move', '/elastic_ips/', (api, id) => api.elasticIps.move(id, 'sv_1WFgWmkF9Mzju')],
  ['servers.get', '/servers/', (api, id) => api.servers.get(id)],
  ['virtualMachines.get', '/virtual_machines/', (api, id) => api.virtualMachines.get(id)],
  ['virtualMachines.rename', '/virtual_machines/', (api, id) => api.virtualMachines.rename(id, 'web')],
  ['apiKeys.rotate', '/auth/api_keys/', (api, id) => api.apiKeys.rotate(id, 'deploy')],
  ['apiKeys.update', '/auth/api_keys/', (api, id) => api.apiKeys.update(id, { name: 'deploy' })],
  ['apiKeys.delete', '/auth/api_keys/', (api, id) => api.apiKeys.delete(id)],
]

const hostile = fc.oneof(
  anyText(),
  fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#', '@', ':', ';', ' ', '\n', '\r', '\0', '\ud800', 'a') }),
)

describe.each(calls)('%s', (_, prefix, call) => {
  test.each(['', '.', '..', 'a/b', '../servers/sv_1WFgWmkF9Mzju', '..\\x', 'a\nb', 'a\u0000', 'a\u007f', '\ud800'])(
    'throws UserError for the id %j and sends nothing',
    async (id) => {
      const { api, requests } = await startClient(() => ({ json: {} }))

      expect(await rejection(call(api, id))).toBeInstanceOf(UserError)
      expect(requests).toEqual([])
    },
  )

  test('keeps the request below its path for any id, even if a proxy decodes the path before it routes', async () => {
    const { api, requests } = await startClient(() => ({ status: 404 }))

    await fc.assert(
      fc.asyncProperty(hostile, async (id) => {
        requests.length = 0
        await call(api, id).catch(() => {})

        for (const { target } of requests) {
          expect(target.startsWith(prefix)).toBe(true)
          expect(target.slice(prefix.length)).toMatch(/^[\w\-.~!'()*%]+$/)
          expect(decodeURIComponent(target.slice(prefix.length))).toBe(id)
          const decoded = new URL(decodeURI(target).replaceAll(/%2[ef5]/gi, decodeURIComponent), 'http://host')
          expect(decoded.pathname.startsWith(prefix)).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })
})

test('an unusual but harmless id is sent encoded', async () => {
  const { api, requests } = await startClient(() => ({ status: 404 }))

  await rejection(api.servers.get('sv 1?x=1#ä%2e'))

  expect(requests).toMatchObject([{ target: '/servers/sv%201%3Fx%3D1%23%C3%A4%252e' }])
})

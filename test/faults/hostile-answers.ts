import { createAccountApi } from '../../src/account/client.ts'
import { requireUncut } from '../../src/account/resource.ts'
import { Secret } from '../../src/domain/signing.ts'
import { peakMemoryMb } from './peak-memory.ts'

/**
 * Makes one call with the real client and its usual deadlines, in its own process, so that its memory can be measured. Prints the outcome,
 * the duration in ms, and by how many megabytes the memory peak rose.
 */
const [url = '', key = '', call = 'read', id = '', target = ''] = process.argv.slice(2)
const api = createAccountApi({ baseUrl: new URL(url), key: new Secret(key) })

// Loads the code and buffers that every call needs before the measurement.
for (let warmUp = 0; warmUp < 20; warmUp += 1) await api.elasticIps.get(id)
const before = peakMemoryMb()
const startedAt = performance.now()
const calls = {
  read: () => api.elasticIps.get(id),
  list: async () => requireUncut(await api.servers.list()),
  write: () => api.elasticIps.move(id, target),
}
const error = await calls[call as keyof typeof calls]().then(
  () => 'no error',
  (thrown: unknown) => String(thrown),
)
const ms = performance.now() - startedAt
const grownMb = peakMemoryMb() - before
process.stdout.write(`${JSON.stringify({ error, ms, grownMb })}\n`)
process.exit(0)

import { parseArgs } from 'node:util'
import { createAccountApi } from '../../src/account/client.ts'
import { Secret } from '../../src/domain/signing.ts'
import { peakMemoryMb } from '../faults/peak-memory.ts'

// Reads every list of an account several times at once, as people and a worker do, and prints the most memory that it took.

const { url = '', times = '1' } = parseArgs({ options: { url: { type: 'string' }, times: { type: 'string' } } }).values
const api = createAccountApi({ baseUrl: new URL(url), key: new Secret('lk_any') })
const { elasticIps, servers, virtualMachines, plans, baselines, apiKeys } = api
const lists = [elasticIps, servers, virtualMachines, plans, baselines, apiKeys]

const read = await Promise.all(
  Array.from({ length: Number(times) }, () => lists)
    .flat()
    .map(async (list) => {
      const { items, cut } = await list.list()
      return `${items.length > 0 ? 'some' : 'none'}, cut by ${cut ?? 'nothing'}`
    }),
)
const megabytes = Math.round(peakMemoryMb())
process.stdout.write(JSON.stringify({ megabytes, read: [...new Set(read)].toSorted() }))
process.exit()

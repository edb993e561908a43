import { createAccountApi } from '../../../src/account/client.ts'
import { Secret } from '../../../src/domain/signing.ts'
import { serveReads } from './serve-reads.ts'

/** The bot's typed client, without a limit. */
const api = createAccountApi({
  baseUrl: new URL(process.argv[2] ?? ''),
  key: new Secret('bench-key-of-nobody'),
})

serveReads({
  elasticIps: async () => (await api.elasticIps.list()).length,
  plans: async () => (await api.plans.list()).length,
})

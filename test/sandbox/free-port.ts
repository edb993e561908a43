import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

/** Returns a free port on loopback. The system chooses it, so that it is never a port that `fetch` refuses. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

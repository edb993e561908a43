import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

/** A port on loopback that nobody has at the moment. The system gives it, so it is never one that `fetch` refuses. */
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

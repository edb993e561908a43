import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Above the ports that `fetch` refuses, and below those that systems give to outgoing connections: one of these could take the port. */
const ports = { from: 10_100, to: 32_000 }

const mostTries = 100

/** Returns a port on loopback that is free now. It is drawn at random, so that others who do the same hardly ever get the same one. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    const port = randomInt(ports.from, ports.to)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found in ${mostTries} tries.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

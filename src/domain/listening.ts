import { StartError } from './errors.ts'

interface ListenAddress {
  hostVariable: string
  host: string
  portVariable: string
  port: number
}

export function whyNotListening(error: Error & { code?: unknown }, { hostVariable, host, portVariable, port }: ListenAddress): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartError(`${portVariable} ${port} is used by another program. Choose another port, or stop that program.`)
  }
  if (error.code === 'EADDRNOTAVAIL') {
    return new StartError(`${hostVariable} ${host} is not an address of this machine. Set one that is, or 0.0.0.0 for all of them.`)
  }
  return error
}

import { isCertificateError } from '../domain/errors/certificate-error.ts'

/** Says why Redis can't be reached, and what to check. `problem` is the code of a connection problem. */
export function unreachableRedis(problem: string): string {
  if (isCertificateError(problem)) {
    return `Lockkeeper doesn't trust the TLS certificate of Redis (${problem}). Check the hostname in REDIS_URL and the clock of this machine. For your own certificate authority, set NODE_EXTRA_CA_CERTS in the environment of the process: Node doesn't read it from .env.`
  }
  return `Redis isn't responding at REDIS_URL (${problem}). Check that it runs, that the address and password are correct, and that this machine can reach it.`
}

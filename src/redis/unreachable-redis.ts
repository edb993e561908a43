import { isCertificateError } from '../domain/errors/certificate-error.ts'

/** Says why Redis can't be reached, and what to check. `problem` is the code of a connection problem. */
export function unreachableRedis(problem: string): string {
  if (isCertificateError(problem)) {
    return `Lockkeeper doesn't trust the TLS certificate of Redis (${problem}). Check the hostname in REDIS_URL and the clock of this machine. For your own certificate authority, set NODE_EXTRA_CA_CERTS in the environment of the process: Node doesn't read it from .env.`
  }
  return `Redis isn't responding at REDIS_URL (${problem}). Check that it runs, that the address and password are correct, and that this machine can reach it.`
}

/** Says which right the user of Redis lacks. `error` has NOPERM. Only the name of a command is taken from it: the rest may quote what was sent. */
export function missingRight(error: string): string {
  const command = /run the '([\w|]+)' command/.exec(error)?.[1]
  return command === undefined
    ? 'The user in REDIS_URL has no right to use the keys of REDIS_PREFIX (NOPERM). For the prefix lockkeeper, give it ~{lockkeeper}:* as in deploy/redis/users.acl, or correct REDIS_PREFIX. Then restart.'
    : `The user in REDIS_URL has no right to run the command ${command} (NOPERM). Give it +${command}, or all rights in deploy/redis/users.acl. Then restart.`
}

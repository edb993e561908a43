import { findOrInstall } from '../find-or-install.ts'

const advice = [
  'There is no Redis on this machine, and Lockkeeper stores its requests in one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install redis-server',
  '  macOS:           brew install redis',
  '  Docker:          docker run --detach --publish 6379:6379 redis:7 redis-server --appendonly yes',
  '                   and set REDIS_URL=redis://127.0.0.1:6379',
  'Or set REDIS_URL to a Redis that you have.',
].join('\n')

/** Returns the path of a Redis or a Valkey. Installs one first if that needs no permission. Throws with advice if there is none. */
export function findRedisServer(): Promise<string> {
  return findOrInstall({
    names: ['redis-server', 'valkey-server'],
    packages: ['redis-server'],
    missing: 'There is no Redis on this machine.',
    advice,
  })
}

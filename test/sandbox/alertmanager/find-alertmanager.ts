import { findOrInstall } from '../find-or-install.ts'

const advice = [
  'There is no Alertmanager on this machine, and this test sends alerts through one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install prometheus-alertmanager',
  '  macOS:           download it from https://prometheus.io/download/#alertmanager and put it into a folder of PATH',
].join('\n')

/** Returns the path of an Alertmanager. Installs one first if that needs no permission. Throws with advice if there is none. */
export function findAlertmanager(): Promise<string> {
  return findOrInstall({
    names: ['prometheus-alertmanager', 'alertmanager'],
    packages: ['prometheus-alertmanager'],
    missing: 'There is no Alertmanager on this machine.',
    advice,
  })
}

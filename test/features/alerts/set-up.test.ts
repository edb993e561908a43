import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeWhole } from '../../../scripts/setup/answers.ts'
import { checkAll } from '../../../scripts/setup/checks.ts'
import { answers, folder, setStage, stage } from '../../deploy/setup-terminal.ts'

setStage()

test('npm run setup -- --check says that alerts are on if their port and the policy are set', async () => {
  const policy = `
rules: [{name: all, request: [alerts, everyone], approve: [U0BEN00001]}]
alerts: [{name: node down, match: {alertname: NodeDown}, server: instance, to: {ASH: standby}, channel: C0GENERAL1}]
`
  writeWhole(join(folder, 'rules.yml'), policy, 0o600)
  const ofAlerts = { POLICY_FILE: join(folder, 'rules.yml'), APPROVERS: '', ALERTS_PORT: '9000', ALERTS_TOKEN: 'a'.repeat(32) }
  const found = (await checkAll({ ...stage(), ...answers(), ...ofAlerts })).find(({ what }) => what === 'Alerts')
  expect(found?.text).toMatch(/^On\. They can request evacuations/)
})

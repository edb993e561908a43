import { expect, test } from 'vitest'
import { notAChoice, type Submission } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { toPlainText } from '../../src/slack/text.ts'
import { unconnectedFeatures } from '../sandbox/features.ts'
import { problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

test.each([
  [
    'create-api-key',
    { name: '!', access: 'read', addresses: '203.0.113.300' },
    {},
    {
      name: 'A name has up to 60 letters, digits, spaces and . _ @ + -. It begins with a letter or digit.',
      addresses: 'Not an IP address, or too large a range: 203.0.113.300. Use 203.0.113.7 or 203.0.113.0/24.',
    },
  ],
  ['rename-virtual-machine', { virtualMachineId: notAChoice, name: 'web_1' }, {}, { virtualMachineId: 'Choose a virtual machine.' }],
  [
    'rename-virtual-machine',
    { virtualMachineId: notAChoice, name: '' },
    {},
    { virtualMachineId: 'Choose a virtual machine.', name: 'Enter the new name.' },
  ],
  [
    'move-elastic-ip',
    { elasticIpId: notAChoice, 'serverId:eip_1': notAChoice },
    {},
    { elasticIpId: 'Choose an Elastic IP.', 'serverId:eip_1': 'Choose a server.' },
  ],
  [
    'evacuate-server',
    { serverId: notAChoice, 'targetId:sv_1': notAChoice },
    { 'elasticIpIds:sv_1:0': [] },
    { serverId: 'Choose a server.', 'targetId:sv_1': 'Choose a server.', 'elasticIpIds:sv_1:0': 'Choose at least one address.' },
  ],
])('the form %s shows all its problems at once, each at its field', async (callbackId, values, ticked, expected) => {
  const submit = unconnectedFeatures().flatMap(({ submissions }) => submissions?.[callbackId] ?? [])[0]
  const metadata = writeMetadata({ origin })

  const answer = await submit?.({
    callbackId,
    values,
    ticked,
    chosen: {},
    blocks: [],
    metadata,
    origin,
    deliveryKey: 'd1',
  } as unknown as Submission)

  if (answer?.is !== 'refused') throw new Error('The form was not refused.')
  expect(Object.fromEntries(Object.entries(answer.problems).map(([id, words]) => [id, toPlainText(words)]))).toEqual(expected)
  expect(problemsWithBlocks(answer.again(Object.values(answer.problems)[0] as never).blocks)).toEqual([])
})

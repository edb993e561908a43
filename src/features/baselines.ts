import type { Baseline, DiskGroup } from '../account/objects.ts'
import { ApiError, isFeatureMissing, UserError } from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { listFeature, textsIn } from '../kit/list.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords } from '../slack/text.ts'

export function baselineListing(list: List<Baseline>, words: string[]): Listing {
  return filteredListing({
    list,
    words,
    textsOf: textsIn,
    one: 'baseline',
    many: 'baselines',
    order: (a, b) => inNaturalOrder(a.name, b.name),
    row,
    none: mrkdwn`The team has no baselines.`,
    notes: [mrkdwn`Baselines are a preview of the account API. Their content may change.`],
  })
}

function row({ id, name, description, operatingSystem: system, sshKeys, userData, diskLayout, bios, createdAt, ...on }: Baseline): Mrkdwn {
  const settings = bios.map(({ setting, value }) => mrkdwn`${nameWords(setting)} ${nameWords(value)}`)
  const lines = [
    mrkdwn`*${name}*  ·  ${target(on)}  ·  ${code(id)}`,
    ...(description ? [mrkdwn`${description}`] : []),
    // The newer shape of the answer has no operating system.
    ...(system === undefined ? [] : [mrkdwn`*Operating system:* ${system ? code(system) : 'any'}`]),
    mrkdwn`*SSH keys:* ${listed(sshKeys.map(sshKey), 'none')}`,
    mrkdwn`*User data:* ${userData ? mrkdwn`${userData.description ?? ''} ${code(userData.id)}` : 'none'}`,
    mrkdwn`*Disks:* ${listed(diskLayout.map(diskGroup), 'as delivered')}`,
    mrkdwn`*BIOS:* ${listed(settings, 'as delivered')}`,
    ...(createdAt === undefined ? [] : [mrkdwn`*Created:* ${dateTime(Date.parse(createdAt))}`]),
  ]
  return joinMrkdwn(lines, '\n')
}

function listed(parts: Mrkdwn[], none: string): Mrkdwn {
  return parts.length > 0 ? joinMrkdwn(parts, '; ') : mrkdwn`${none}`
}

function target({ targetType, platforms }: Pick<Baseline, 'targetType' | 'platforms'>): Mrkdwn {
  const plans = platforms.map(({ name, slug, id }) => name ?? slug ?? id ?? 'an unnamed plan').join(', ')
  if (targetType === undefined || targetType === 'platforms') return plans === '' ? mrkdwn`plans unknown` : mrkdwn`on ${plans}`
  return mrkdwn`for ${nameWords(targetType)}${plans === '' ? '' : `: ${plans}`}`
}

function sshKey({ id, name, fingerprint }: Baseline['sshKeys'][number]): Mrkdwn {
  return mrkdwn`${name ?? id ?? 'unnamed'} ${fingerprint ? code(fingerprint) : '(no fingerprint)'}`
}

/** `2 disks for the system, RAID 1`; `4 disks for storage, RAID 0, ext4 on /var/lib/kafka`. */
function diskGroup({ role, count, raidLevel, filesystem, mountPoint }: DiskGroup): Mrkdwn {
  const purpose = { os: 'for the system', storage: 'for storage', raw: 'raw' }[role ?? ''] ?? `for ${role ?? 'an unknown purpose'}`
  const disks = count === 1 ? '1 disk' : `${count ?? ''} disks`.trim()
  const raid = raidLevel && `, ${raidLevel.replace(/^raid-/i, 'RAID ')}`
  const mounted = mountPoint && mrkdwn` on ${code(mountPoint)}`
  return mrkdwn`${disks} ${purpose}${raid ?? ''}${filesystem ? `, ${filesystem}` : ''}${mounted ?? ''}`
}

export const listBaselines = listFeature({
  words: 'baselines',
  usage: '[word…]',
  group: 'View',
  summary: 'Expected configuration of delivered servers',
  details: mrkdwn`Shows plans, operating system, SSH keys, user data, disks and BIOS. All words must match. A preview: the team needs the feature flag ${code('baselines_api')}.`,
  examples: ['kafka', 'raid-1'],
  list: async (app, { args }) => {
    try {
      return baselineListing(await app.lists.baselines(), args)
    } catch (error) {
      // Teams without the feature flag may also get a 404. Any other 403 is about the key.
      if (isFeatureMissing(error) || (error instanceof ApiError && error.status === 404))
        throw new UserError('feature-missing', noBaselines)
      throw error
    }
  },
})

const noBaselines =
  "Baselines are a preview and aren't enabled for this team (feature flag baselines_api). Ask the provider's support to enable them."

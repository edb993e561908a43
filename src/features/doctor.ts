import packageFile from '../../package.json' with { type: 'json' }
import type { App } from '../app.ts'
import { type Diagnosis, examine } from '../checks/list.ts'
import { notFrozen } from '../checks/redis.ts'
import { checkIds } from '../checks/slack.ts'
import type { Feature, Setup } from '../kit/ability.ts'
import { actions, button, context, message, notice, option, wholeSection } from '../slack/blocks.ts'
import type { Click } from '../slack/interactions.ts'
import { externalSelect } from '../slack/pickers.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

/** Describes this process in one line: `0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  rules from POLICY_FILE: 1`. */
function describeBot({ config: { role, environment, slack, policyFile, policy } }: App): string {
  const parts = [
    packageFile.version,
    role === 'all' ? 'web and worker' : role,
    slack.appToken === undefined ? 'HTTP' : 'Socket Mode',
    environment,
    `rules from ${policyFile ? 'POLICY_FILE' : 'environment variables'}: ${policy.rules.length}`,
  ]
  return parts.filter(Boolean).join('  ·  ')
}

const tests = { button: 'doctor-button', picker: 'doctor-picker' } as const

/** In the order of the report. */
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

/** Lists what is wrong first. Below the list are a button and a picker, which prove that clicks and option loads arrive. */
export function report(bot: string, results: Diagnosis): Message {
  const failed = results.filter(({ is }) => is === 'wrong').length
  const unsure = results.filter(({ is }) => is === 'unknown').length
  const outcome = failed > 0 ? `${failed} of ${results.length} checks failed` : unsure > 0 ? 'No check failed' : 'All checks passed'
  const lines = Object.entries(signs).flatMap(([is, sign]) =>
    results
      .filter((each) => each.is === is)
      .map(({ what, words, fix }) => {
        const toDo = fix ? mrkdwn` ${is === 'wrong' ? mrkdwn`*Fix:* ` : ''}${fix}` : ''
        return mrkdwn`${sign} *${what}:* ${words}${toDo}`
      }),
  )
  const isFrozen = results.some(({ what, is, words }) => what === 'Freeze' && is !== 'unknown' && !words.text.startsWith(notFrozen.text))
  const title = mrkdwn`*${outcome}*${unsure === 0 ? '' : `, ${unsure} unknown`}${isFrozen ? '. *Changes are frozen.*' : ''}`
  const content = [...wholeSection(title), ...context([mrkdwn`Lockkeeper ${bot}`]), ...lines.flatMap(wholeSection)]
  const picker = externalSelect({ actionId: tests.picker, placeholder: 'Test the pickers' })
  return message([
    ...content,
    ...actions([button({ text: 'Test the buttons', actionId: tests.button, value: 'test' })]),
    { type: 'actions', elements: [picker] },
  ])
}

export const checkSetup = { create }

function create(app: App, setup: Setup): Feature {
  const says = (words: Mrkdwn) => async (click: Click) => void (await click.answer.ephemeral(notice(words)))
  return {
    checkStart: () => checkIds(app),
    commands: [
      {
        words: 'doctor',
        usage: '',
        group: 'View',
        summary: 'Check the setup: Slack, Redis, the account API, the workers',
        details: mrkdwn`Failed checks come first, with a fix. Then come checks without a result, and checks that passed.`,
        examples: [],
        need: 'read',
        run: async ({ slashCommand: { origin, answer } }) => {
          await answer.ephemeral(report(describeBot(app), await examine(app, undefined, { viewer: origin, showHome: setup.showHome })))
        },
      },
    ],
    clicks: {
      [tests.button]: says(mrkdwn`:white_check_mark: Buttons work.`),
      [tests.picker]: says(mrkdwn`:white_check_mark: Pickers work.`),
    },
    options: { [tests.picker]: async () => ({ options: [option({ text: 'Sent by Lockkeeper. Choose this.', value: 'works' })] }) },
  }
}

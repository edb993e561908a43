import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export const testIds = {
  button: 'doctor-button',
  picker: 'doctor-picker',
  tableSeen: 'doctor-table-seen',
  tableUnseen: 'doctor-table-unseen',
} as const

export const tests = {
  button: 'Test the buttons',
  picker: 'Test the pickers',
  choice: 'Choose me: I came from Lockkeeper',
  buttonWorks: mrkdwn`:white_check_mark: Buttons work.`,
  table: { caption: 'A table', headers: ['Test', 'Result'], rows: [['Tables', 'Slack drew this table']] },
  tableQuestion: mrkdwn`*Can you see this table?* Lists such as ${code('ip list')} are tables.`,
  tableSeen: 'Yes, I see it',
  tableUnseen: 'No',
  tableWorks: mrkdwn`:white_check_mark: Tables work.`,
  tableFails: mrkdwn`:x: Your Slack app doesn't draw tables. Update it. Until then, use Slack in a browser to read lists.`,
  tableRefused: mrkdwn`:grey_question: *Tables* Slack refused a table, so lists are shown as text. Run this command again later: Slack rolls tables out in phases.`,
  pickerWorks: mrkdwn`:white_check_mark: Pickers work: Slack asked me for the choices, and yours has reached me.`,
}

/** `2 of 12 need mending, 1 is not known` */
export function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
  const mending = wrong === 0 ? 'Nothing needs mending' : `${wrong} of ${all} ${wrong === 1 ? 'needs' : 'need'} mending`
  return mrkdwn`*${mending}*${unsure === 0 ? '' : `, ${unsure} ${unsure === 1 ? 'is' : 'are'} not known`}`
}

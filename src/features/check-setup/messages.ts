import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

export const testIds = { button: 'doctor-button', picker: 'doctor-picker' } as const

export const tests = {
  button: 'Test the buttons',
  picker: 'Test the pickers',
  choice: 'Choose me: I came from Lockkeeper',
  buttonWorks: mrkdwn`:white_check_mark: Buttons work.`,
  pickerWorks: mrkdwn`:white_check_mark: Pickers work: Slack asked me for the choices, and yours has reached me.`,
}

/** `2 of 12 need mending, 1 is not known` */
export function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
  const mending = wrong === 0 ? 'Nothing needs mending' : `${wrong} of ${all} ${wrong === 1 ? 'needs' : 'need'} mending`
  return mrkdwn`*${mending}*${unsure === 0 ? '' : `, ${unsure} ${unsure === 1 ? 'is' : 'are'} not known`}`
}

import { isObject, type Json, stringOf } from '../json.ts'
import { problemsWithView } from '../validate-blocks.ts'
import { type Method, required, type Stores } from './method.ts'
import { invalidArguments, Refusal } from './refusal.ts'

const largestView = 250_000

export function viewMethods({ directory, views, triggers }: Stores, app: { homeTab: boolean }): Record<string, Method> {
  function viewOf(args: Json, surface: 'modal' | 'home'): Json {
    required(args, 'view')
    const { view } = args
    if (!isObject(view)) throw invalidArguments('must be a valid view [json-pointer:/view]')
    if (JSON.stringify(view).length > largestView) throw new Refusal('view_too_large')
    const problems = problemsWithView(view, surface)
    if (problems.length > 0) throw invalidArguments(...problems)
    return view
  }

  return {
    'views.open': {
      args: ['trigger_id', 'view'],
      run(args) {
        const view = viewOf(args, 'modal')
        required(args, 'trigger_id')
        const trigger = triggers.exchange(stringOf(args.trigger_id))
        if ('error' in trigger) throw new Refusal(trigger.error)
        return { view: views.toSlack(views.open(trigger.userId, view, trigger.channel)) }
      },
    },

    'views.update': {
      args: ['view_id', 'view'],
      run(args) {
        const stored = views.find(stringOf(args.view_id))
        if (stored === undefined) throw new Refusal('not_found')
        views.update(stored, viewOf(args, 'modal'))
        return { view: views.toSlack(stored) }
      },
    },

    'views.publish': {
      args: ['user_id', 'view'],
      run(args) {
        if (!app.homeTab) throw new Refusal('not_enabled')
        required(args, 'user_id')
        const userId = stringOf(args.user_id)
        if (directory.findPerson(userId) === undefined) throw new Refusal('user_not_found')
        return { view: views.toSlack(views.publish(userId, viewOf(args, 'home'))) }
      },
    },
  }
}

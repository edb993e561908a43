import { isObject, type Json, stringOf } from '../json.ts'
import type { Trigger } from '../triggers.ts'
import { validateView } from '../validate-blocks.ts'
import type { StoredView } from '../view-store.ts'
import { type Method, required, type Stores } from './method.ts'
import { invalidArguments, Refusal, refuseInvalidView } from './refusal.ts'

const largestView = 250_000

export function viewMethods({ directory, views, triggers }: Stores, app: { homeTab: boolean }): Record<string, Method> {
  function viewOf(args: Json, surface: 'modal' | 'home', updated?: StoredView): Json {
    required(args, 'view')
    const { view } = args
    if (!isObject(view)) throw invalidArguments('must be a valid view [json-pointer:/view]')
    if (JSON.stringify(view).length > largestView) throw new Refusal('view_too_large')
    refuseInvalidView(validateView(view, surface))
    const externalId = stringOf(view.external_id)
    const owner = externalId === '' ? undefined : views.findByExternalId(externalId)
    if (owner && owner !== updated) throw new Refusal('duplicate_external_id')
    return view
  }

  function exchange(args: Json): Trigger {
    required(args, 'trigger_id')
    const trigger = triggers.exchange(stringOf(args.trigger_id))
    if ('error' in trigger) throw new Refusal(trigger.error)
    return trigger
  }

  function named(args: Json): StoredView {
    const [id, externalId] = [stringOf(args.view_id), stringOf(args.external_id)]
    if (id !== '' && externalId !== '') throw invalidArguments('Cannot provide both `view_id` and `external_id`')
    const found = id !== '' ? views.find(id) : views.findByExternalId(externalId)
    if (found === undefined) throw new Refusal('not_found')
    return found
  }

  return {
    'views.open': {
      run(args) {
        const view = viewOf(args, 'modal')
        const { userId } = exchange(args)
        return { view: views.toSlack(views.open(userId, view)) }
      },
    },

    'views.push': {
      run(args) {
        const view = viewOf(args, 'modal')
        const { userId } = exchange(args)
        if (views.stackOf(userId).length === 0) throw new Refusal('not_found')
        const pushed = views.push(userId, view)
        if (pushed === undefined) throw new Refusal('push_limit_reached')
        return { view: views.toSlack(pushed) }
      },
    },

    'views.update': {
      run(args) {
        const stored = named(args)
        const hash = stringOf(args.hash)
        if (hash !== '' && hash !== stored.hash) throw new Refusal('hash_conflict')
        views.update(stored, viewOf(args, 'modal', stored))
        return { view: views.toSlack(stored) }
      },
    },

    'views.publish': {
      run(args) {
        if (!app.homeTab) throw new Refusal('not_enabled')
        required(args, 'user_id')
        const userId = stringOf(args.user_id)
        if (directory.findPerson(userId) === undefined) throw new Refusal('user_not_found')
        const hash = stringOf(args.hash)
        const home = views.homeOf(userId)
        if (hash !== '' && hash !== home?.hash) throw new Refusal('hash_conflict')
        return { view: views.toSlack(views.publish(userId, viewOf(args, 'home', home))) }
      },
    },
  }
}

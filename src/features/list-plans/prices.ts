/**
 * Shows a price for an hour or a month: `$0.007/h`, `EUR 5.11/mo`. Currencies other than the US dollar are shown by their code, because
 * several share a symbol.
 */
export function priceWords(amount: number, currency: string, per: 'h' | 'mo'): string {
  const number = (amount < 1 ? smallAmount : largeAmount).format(amount)
  return `${currency === 'USD' ? '$' : `${currency} `}${number}/${per}`
}

const smallAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const largeAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

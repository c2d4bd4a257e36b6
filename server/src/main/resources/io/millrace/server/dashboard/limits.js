// Limits that queues, job types and nodes share.

import { html, nothing } from 'lit';
import { change, get, segment } from './http.js';
import { count } from './format.js';
import { ACTIONS, View, ask, attempt, button, commandLine, define, edit, empty, head, link, status, wholeList } from './view.js';

const set = (view, limit) =>
  edit(
    limit ? `Change ${limit.name}` : 'New limit',
    [
      ...(limit ? [] : [{ name: 'name', label: 'Name', required: true }]),
      { name: 'running', label: 'At a time', kind: 'number', value: limit?.running ?? '', help: 'How many tasks, jobs and nodes run at a time, of all queues, types and nodes that name it.' },
      { name: 'starts', label: 'Starts in a time', value: limit?.starts ?? '', placeholder: 'for example 100/1m' },
    ],
    async values => {
      await change('PUT', `limits/${segment(limit?.name ?? values.name)}`, {
        running: values.running === '' ? null : Number(values.running),
        starts: values.starts || null,
      });
      view.reload();
    });

class Limits extends View {
  async load() {
    return get('limits');
  }

  content() {
    return html`
      ${head('Shared limits', { actions: button('New limit', () => set(this, null), { kind: '' }) })}
      ${wholeList(
        this,
        [
          { title: 'Limit', value: limit => html`<strong>${limit.name}</strong> ${limit.running !== null && limit.used >= limit.running ? status('running: all taken') : nothing}` },
          {
            title: 'Used', kind: 'wide',
            value: limit => limit.running === null
              ? count(limit.used)
              : html`<meter min="0" max=${limit.running} value=${limit.used} aria-label="Used"></meter> ${count(limit.used)} of ${count(limit.running)}`,
          },
          { title: 'Starts', value: limit => limit.starts ?? html`<span class="calm">–</span>` },
          { title: 'Queues', value: limit => limit.queues.map((name, index) => html`${index ? ', ' : ''}${link(['queues', name], name)}`) },
          { title: 'Types', value: limit => limit.types.map(name => name || '(none)').join(', ') },
          { title: 'Nodes', value: limit => (limit.nodes ? count(limit.nodes) : nothing) },
          {
            title: ACTIONS, kind: 'buttons',
            value: limit => html`
              ${button('Change', () => set(this, limit))}
              ${button('Delete', async () => {
                if (!(await ask(`Delete the limit ${limit.name}?`, 'What names it is no longer limited by it.', 'Delete'))) return;
                await attempt(() => change('DELETE', `limits/${segment(limit.name)}`), `${limit.name} is deleted`);
                this.reload();
              }, { kind: 'danger' })}`,
          },
        ],
        this.data.limits,
        {
          texts: limit => [limit.name, ...limit.queues, ...limit.types],
          orders: { 'most used': limit => limit.used, largest: limit => limit.running },
          caption: 'Shared limits',
          none: empty('No shared limits', 'A shared limit holds for all queues, job types and nodes that name it together, for example for a mail server that takes 100 messages a minute.', './millrace limits set mail-server --running 4 --starts 100/1m'),
        },
      )}
      ${commandLine('./millrace limits list')}
    `;
  }
}

define('millrace-limits', Limits);

// The task store below everything: its groups and their tasks.

import { html, nothing } from 'lit';
import { get, parse, query, segment } from './http.js';
import { count, moment } from './format.js';
import { View, commandLine, define, empty, head, json, link, pager, quoted, select, status, table, time, wholeList } from './view.js';

const PAGE = 100;

class Store extends View {
  async load() {
    const [groups, health] = await Promise.all([get('store/summary'), get('health')]);
    return { groups, health };
  }

  content() {
    const { groups, health } = this.data;
    return html`
      ${head('Store', { note: html`<span class="calm">${health.journaling} journal, at ${health.position}</span>` })}
      ${wholeList(
        this,
        [
          { title: 'Group', value: group => link(['store', group.group], html`<code>${group.group}</code>`) },
          { title: 'Waiting', kind: 'number', value: group => count(group.waiting) },
          { title: 'Delayed', kind: 'number', value: group => count(group.delayed) },
          { title: 'Owned', kind: 'number', value: group => count(group.owned) },
          { title: 'Claimed', kind: 'number', value: group => count(group.claimed) },
        ],
        groups,
        {
          texts: group => [group.group],
          orders: {
            'most waiting': group => group.waiting, 'most delayed': group => group.delayed,
            'most owned': group => group.owned, 'most claimed': group => group.claimed,
          },
          caption: 'Groups',
          none: empty('No groups', 'Tasks of all parts are in groups of the store.'),
        })}
      ${commandLine('./millrace store groups')}
      ${health.shards ? shardTable(health.shards) : nothing}
    `;
  }
}

const shardTable = shards => html`
  ${table(
    [
      { title: 'Shard', value: shard => html`<a href=${`shards/${shard.shard}/`}>${shard.shard}</a>` },
      { title: 'Leader', value: shard => shard.leader ?? (shard.role === 'leader' ? 'this server' : status('none')) },
    ],
    shards,
    { caption: 'Shards' })}
  ${commandLine('./millrace shards list')}
`;

const data = task => {
  if (task.data64 !== undefined) return html`<span class="calm">not text:</span> <code>${task.data64.slice(0, 80)}</code>`;
  if (/^\s*[[{]/.test(task.data)) {
    try {
      return json(parse(task.data));
    } catch {
      // It only begins like JSON.
    }
  }
  return html`<code class="data">${task.data.length > 300 ? `${task.data.slice(0, 300)}…` : task.data}</code>`;
};

/** The place of a task in its group, which the next page begins after. */
const placeOf = task => `${task.timespec}~${task.origin}${task.key || task.priority ? '~keyed' : ''}`;

class Group extends View {
  async load() {
    const { state, after } = this.route.parameters;
    const tasks = await get(`store/group/${segment(this.route.path[1])}${query({
      limit: PAGE + 1, owned: state ? null : 'yes', delayed: state === 'delayed' ? 'yes' : null, after,
    })}`);
    return { tasks: tasks.slice(0, PAGE), more: tasks.length > PAGE };
  }

  content() {
    const group = this.route.path[1];
    const { tasks, more } = this.data;
    const { state, after } = this.route.parameters;
    return html`
      ${head(html`<code>${group}</code>`, {
        above: [[['store'], 'Store']],
        note: html`<p class="calm">What waits comes first, by the time since when it is available; then what is delayed or owned, by the time until when.</p>`,
      })}
      <div class="filters">
        ${select('Tasks', state, [['', 'all'], ['waiting', 'waiting'], ['delayed', 'delayed']], state => this.filter({ state }))}
      </div>
      ${table(
        [
          { title: 'Task', kind: 'number', value: task => task.id },
          { title: 'State', value: task => status(task.state) },
          { title: 'Available', value: task => html`<span title=${moment(task.timespec)}>${time(task.timespec)}</span>` },
          { title: 'Owner', value: task => task.principal || task.ownerid || nothing },
          { title: 'Claims', kind: 'number', value: task => task.claims },
          { title: 'Key', value: task => task.key ?? nothing },
          { title: 'Data', kind: 'wide', value: data },
        ],
        tasks,
        { caption: 'Tasks', none: empty('No such tasks') })}
      ${pager(this, more ? placeOf(tasks.at(-1)) : null)}
      ${commandLine(`./millrace store list ${quoted(group)}${state === 'waiting' ? '' : ' --all'} --limit ${PAGE}${after ? ` --after ${after}` : ''}`)}
    `;
  }
}

define('millrace-store', Store);
define('millrace-group', Group);

// The task store below everything: its groups and their tasks.

import { html, nothing } from 'lit';
import { get, parse, query, segment } from './http.js';
import { count, moment } from './format.js';
import { View, commandLine, define, empty, field, head, json, link, quoted, select, status, table, time } from './view.js';

const PAGE = 100;

class Store extends View {
  async load() {
    const [groups, health] = await Promise.all([get('store/summary'), get('health')]);
    return { groups, health };
  }

  content() {
    const { groups, health } = this.data;
    const text = (this.route.parameters.name ?? '').toLowerCase();
    const shown = groups.filter(group => group.group.toLowerCase().includes(text));
    return html`
      ${head('Store', { note: html`<span class="calm">${health.journaling} journal, at ${health.position}</span>` })}
      <div class="filters">${field('Group', this.route.parameters.name, name => this.filter({ name }))}</div>
      ${table(
        [
          { title: 'Group', value: group => link(['store', group.group], html`<code>${group.group}</code>`) },
          { title: 'Waiting', kind: 'number', value: group => count(group.waiting) },
          { title: 'Delayed', kind: 'number', value: group => count(group.delayed) },
          { title: 'Owned', kind: 'number', value: group => count(group.owned) },
          { title: 'Claimed', kind: 'number', value: group => count(group.claimed) },
        ],
        shown.slice(0, 500),
        { caption: 'Groups', none: empty('No groups', 'Tasks of all parts are in groups of the store.') })}
      ${shown.length > 500 ? html`<p class="calm">and ${count(shown.length - 500)} more: filter by a part of the name.</p>` : nothing}
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

class Group extends View {
  async load() {
    const group = this.route.path[1];
    const { state } = this.route.parameters;
    return get(`store/group/${segment(group)}${query({ limit: PAGE, owned: state ? null : 'yes', delayed: state === 'delayed' ? 'yes' : null })}`);
  }

  content() {
    const group = this.route.path[1];
    return html`
      ${head(html`<code>${group}</code>`, { above: [[['store'], 'Store']] })}
      <div class="filters">
        ${select('Tasks', this.route.parameters.state, [['', 'all'], ['waiting', 'waiting'], ['delayed', 'delayed']], state => this.filter({ state }))}
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
        this.data,
        { caption: 'Tasks', none: empty('No such tasks') })}
      ${this.data.length === PAGE ? html`<p class="calm">Only the first ${PAGE} are shown.</p>` : nothing}
      ${commandLine(`./millrace store list ${quoted(group)}`)}
    `;
  }
}

define('millrace-store', Store);
define('millrace-group', Group);

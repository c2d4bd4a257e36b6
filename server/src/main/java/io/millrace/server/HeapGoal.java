package io.millrace.server;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.Map;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this process's heap near the size of what lives in it. A collector that may use a quarter
 * of the machine does so before it collects, and memory touched for the first time costs the
 * kernel, and on a virtual machine its host, more than collecting does. The goal is soft: what
 * lives has room beyond it, up to {@code -Xmx}. It is the flag {@code SoftMaxHeapSize}, which some
 * collectors respect; an explicit flag takes precedence.
 */
public final class HeapGoal {
  /** The goal of a process with little live data: 1 GiB. */
  public static final long LEAST_BYTES = 1L << 30;

  private static final Logger LOG = LoggerFactory.getLogger(HeapGoal.class);
  private static final String FLAG = "SoftMaxHeapSize";

  /** The goal as a multiple of the live data. */
  private static final int TIMES = 3;

  private final HotSpotDiagnosticMXBean machine;
  private final long mostBytes;
  private long bytes;

  private HeapGoal(HotSpotDiagnosticMXBean machine, long mostBytes) {
    this.machine = machine;
    this.mostBytes = mostBytes;
  }

  /**
   * Sets the goal now, and again after each collection, as long as the process lives. Does nothing
   * on a JVM without such a flag, and if the flag was given.
   */
  public static void keep() {
    HotSpotDiagnosticMXBean machine =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    try {
      VMOption option = machine.getVMOption(FLAG);
      // The JVM derives it from -Xmx unless it is given, and reports it as its own choice then.
      if (!option.isWriteable()
          || (option.getOrigin() != VMOption.Origin.DEFAULT
              && option.getOrigin() != VMOption.Origin.ERGONOMIC)) {
        return;
      }
    } catch (IllegalArgumentException e) {
      LOG.debug("this JVM has no goal for its heap", e);
      return;
    }
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    HeapGoal goal = new HeapGoal(machine, heap.getMax());
    goal.follow(heap.getUsed());
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener((event, _) -> goal.collected(event), null, null);
      }
    }
  }

  /**
   * The goal when {@code liveBytes} live.
   *
   * @param mostBytes the largest heap
   */
  static long bytes(long liveBytes, long mostBytes) {
    return Math.min(mostBytes, Math.max(LEAST_BYTES, TIMES * liveBytes));
  }

  private void collected(Notification event) {
    if (event.getUserData() instanceof CompositeData data
        && event
            .getType()
            .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      Map<String, MemoryUsage> pools =
          GarbageCollectionNotificationInfo.from(data).getGcInfo().getMemoryUsageAfterGc();
      // Code and classes are among the pools too, and small.
      follow(pools.values().stream().mapToLong(MemoryUsage::getUsed).sum());
    }
  }

  private synchronized void follow(long liveBytes) {
    long wanted = bytes(liveBytes, mostBytes);
    // A goal that is about right stays: each change is a call into the JVM.
    if (Math.abs(wanted - bytes) > bytes / 10) {
      bytes = wanted;
      machine.setVMOption(FLAG, Long.toString(wanted));
    }
  }
}

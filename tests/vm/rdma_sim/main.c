// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdma_sim: RDMA devices without hardware, for testing programs that watch
 * ports. They have no data path. What they answer, how they fail and which
 * events they send is controlled through /dev/rdma_sim; see README.md.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "rdma_sim.h"

#define WRITE_MAX	(64 * 1024)

static int sim_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;	/* set by the misc layer; seq_open() warns of it */
	return seq_open(file, &sim_state_ops);
}

static ssize_t sim_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char *text;
	int ret;

	if (len > WRITE_MAX)
		return -E2BIG;
	text = memdup_user_nul(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = sim_commands_run(text, len);
	kfree(text);
	return ret ?: len;
}

static const struct file_operations sim_fops = {
	.owner = THIS_MODULE,
	.open = sim_open,
	.read = seq_read,
	.write = sim_write,
	.llseek = seq_lseek,
	.release = seq_release,
};

static struct miscdevice sim_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rdma_sim",
	.mode = 0600,
	.fops = &sim_fops,
};

static int __init sim_init(void)
{
	int ret;

	ret = sim_pf_init();
	if (ret)
		return ret;
	ret = sim_netdev_init();
	if (ret)
		goto exit_pf;
	ret = misc_register(&sim_misc);
	if (ret)
		goto exit_netdev;
	return 0;
exit_netdev:
	sim_netdev_exit();
exit_pf:
	sim_pf_exit();
	return ret;
}

static void __exit sim_exit(void)
{
	LIST_HEAD(taken);

	misc_deregister(&sim_misc);
	mutex_lock(&sim_lock);
	sim_devices_take(NULL, &taken);
	mutex_unlock(&sim_lock);
	sim_devices_destroy(&taken);
	sim_netdev_exit();
	sim_pf_exit();
}

module_init(sim_init);
module_exit(sim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RDMA devices without hardware, for tests");

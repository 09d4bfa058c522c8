// 802.15.4 at 2.4 GHz and 250 kbit/s, between equals: the radio of XBee modules.

#pragma once

#include "link.h"

#include "ns3/lr-wpan-module.h"
#include "ns3/spectrum-module.h"

// Since ns-3.43 its 802.15.4 is in a namespace of its own.
namespace ns3::lrwpan
{
}

using namespace ns3::lrwpan;

class LrWpanLink : public Link
{
  public:
    LrWpanLink(const Setup& setup, Heard heard)
        : Link(setup, std::move(heard)),
          m_power(setup.Number("power")),
          m_places(setup.Number("queue"))
    {
        auto channel = CreateObject<SingleModelSpectrumChannel>();
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        channel->AddPropagationLossModel(losses);
        m_helper.SetChannel(channel);
        channel->TraceConnectWithoutContext(
            "PathLoss",
            Callback<void, Ptr<const SpectrumPhy>, Ptr<const SpectrumPhy>, double>(
                [this](Ptr<const SpectrumPhy> from, Ptr<const SpectrumPhy> to, double loss) {
                    m_losses[{Number(from), Number(to)}] = loss;
                }));
        EquipAll(setup);
    }

    std::string Facts() const override
    {
        auto csma = Device(0)->GetCsmaCa();
        std::ostringstream facts;
        facts << "min_backoff_exponent " << +csma->GetMacMinBE() << "\n"
              << "max_backoff_exponent " << +csma->GetMacMaxBE() << "\n"
              << "backoffs " << +csma->GetMacMaxCSMABackoffs() << "\n"
              << "retries " << +Device(0)->GetMac()->GetMacMaxFrameRetries() << "\n"
              << "tx_power_dbm " << m_power << "\n"
              << "longest " << Device(0)->GetMtu() << "\n";
        return facts.str();
    }

  private:
    static constexpr uint16_t PAN = 1;
    static constexpr uint32_t CHANNEL = 11;
    static constexpr double SENSITIVITY = -106.58; // dBm, ns-3's
    static constexpr double FAR = 1e9; // m: out of all reach, for a radio that is off; this PHY has no switch

    Ptr<LrWpanNetDevice> Device(uint32_t node) const
    {
        return StaticCast<LrWpanNetDevice>(devices.Get(node));
    }

    static uint32_t Number(Ptr<const SpectrumPhy> phy)
    {
        return phy->GetDevice()->GetNode()->GetId();
    }

    void Equip(uint32_t node, const std::string& name) override
    {
        devices.Add(m_helper.Install(nodes.Get(node)));
        uint8_t address[2] = {uint8_t((node + 1) >> 8), uint8_t((node + 1) & 255)};
        Mac16Address short_address;
        short_address.CopyFrom(address);
        Device(node)->GetMac()->SetPanId(PAN);
        Device(node)->GetMac()->SetShortAddress(short_address);
        auto density = LrWpanSpectrumValueHelper().CreateTxPowerSpectralDensity(m_power, CHANNEL);
        Device(node)->GetPhy()->SetTxPowerSpectralDensity(density);
        m_air.emplace_back();
        m_room.push_back(m_places);
        Watch(node);
        Listen(node);
        if (!pcap.empty())
        {
            m_helper.EnablePcap(pcap + name + ".pcap", devices.Get(node), true, true);
        }
    }

    void Jam(uint32_t node, double watts) override
    {
        auto noise = LrWpanSpectrumValueHelper().CreateNoisePowerSpectralDensity(CHANNEL);
        *noise *= 1 + watts / LrWpanSpectrumValueHelper::TotalAvgPower(noise, CHANNEL);
        Device(node)->GetPhy()->SetNoisePowerSpectralDensity(noise);
    }

    void Watch(uint32_t node)
    {
        auto& count = counts[node];
        auto mac = Device(node)->GetMac();
        auto& room = m_room[node];
        mac->TraceConnectWithoutContext(
            "MacTxEnqueue",
            Callback<void, Ptr<const Packet>>([&room](Ptr<const Packet>) { room--; }));
        mac->TraceConnectWithoutContext(
            "MacTxDequeue",
            Callback<void, Ptr<const Packet>>([&room](Ptr<const Packet>) { room++; }));
        mac->TraceConnectWithoutContext("MacTxOk",
                                        Callback<void, Ptr<const Packet>>([&count](Ptr<const Packet> packet) {
                                            count.acknowledged += IsToOne(packet);
                                        }));
        mac->TraceConnectWithoutContext(
            "MacTxDrop",
            Callback<void, Ptr<const Packet>>([&count](Ptr<const Packet>) { count.given_up++; }));
        auto phy = Device(node)->GetPhy();
        phy->TraceConnectWithoutContext(
            "PhyTxBegin",
            Callback<void, Ptr<const Packet>>([this, node](Ptr<const Packet> packet) { Sent(node, packet); }));
        phy->TraceConnectWithoutContext(
            "PhyRxBegin",
            Callback<void, Ptr<const Packet>>([this, node](Ptr<const Packet> packet) { Begun(node, packet); }));
        phy->TraceConnectWithoutContext(
            "PhyRxDrop",
            Callback<void, Ptr<const Packet>>([this, node](Ptr<const Packet> packet) { Lost(node, packet); }));
    }

    void Sent(uint32_t node, Ptr<const Packet> packet)
    {
        FrameTag frame;
        if (packet->PeekPacketTag(frame))
        {
            (frame.number == m_air[node].last_sent ? counts[node].retries : counts[node].sent)++;
            m_air[node].last_sent = frame.number;
        }
    }

    void Begun(uint32_t node, Ptr<const Packet> packet)
    {
        m_air[node].receiving = packet->GetUid();
        m_air[node].disturbed = false;
    }

    // Either the frame that it was receiving is wrong, or another one came meanwhile.
    void Lost(uint32_t node, Ptr<const Packet> packet)
    {
        FrameTag frame;
        if (!packet->PeekPacketTag(frame) || Strength(node, frame) < SENSITIVITY)
        {
            return;
        }
        bool alone = packet->GetUid() == m_air[node].receiving && !m_air[node].disturbed;
        m_air[node].disturbed = true;
        (alone ? counts[node].noise_losses : counts[node].collisions)++;
    }

    static bool IsToOne(Ptr<const Packet> packet)
    {
        LrWpanMacHeader header;
        packet->PeekHeader(header);
        return header.GetShortDstAddr() != Mac16Address("ff:ff");
    }

    // ns-3's queue has no end.
    bool DoSend(uint32_t sender, Ptr<NetDevice> device, Ptr<Packet> packet, const Address& to) override
    {
        if (m_room[sender] <= 0)
        {
            counts[sender].queue_drops++;
            return true;
        }
        return Link::DoSend(sender, device, packet, to);
    }

    double Strength(uint32_t node, const FrameTag& frame) const override
    {
        return m_power - m_losses.at({frame.sender, node});
    }

    void Turn(uint32_t node, bool on) override
    {
        if (!on)
        {
            nodes.Get(node)->GetObject<MobilityModel>()->SetPosition(Vector(FAR, FAR, FAR));
        }
    }

    struct Air
    {
        uint64_t last_sent = UINT64_MAX; // number of a frame
        uint64_t receiving = UINT64_MAX; // ns-3's number of a packet
        bool disturbed = false;
    };

    LrWpanHelper m_helper; // takes its channel along when it goes
    double m_power;        // dBm
    std::map<std::pair<uint32_t, uint32_t>, double> m_losses; // dB, from node to node, of the last frame
    std::deque<Air> m_air;
    int64_t m_places;           // in a queue
    std::deque<int64_t> m_room; // frames that each queue still takes
};
